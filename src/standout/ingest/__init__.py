"""Files and frames become a release: start with `read`; `report` says what was not read."""
