"""The commands: each has its options, its call of the library and its output; small ones of one idea share a file."""
