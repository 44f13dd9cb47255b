"""A request that cannot be answered: its status code, and one sentence that says why."""


class RequestError(Exception):
    """A request that is refused with an HTTP status and one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
