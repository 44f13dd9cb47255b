"""Run the command line with `python -m standout`."""

from standout.cli import main

if __name__ == "__main__":
    main()
