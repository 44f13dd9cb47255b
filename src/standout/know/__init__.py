"""What an adversary knows: facts, their similarity to entries, and the adversaries who draw them."""
