"""`python -m clift` is the command `clift`."""

from clift.cli import main

if __name__ == "__main__":
    main()
