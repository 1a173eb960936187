"""Run the tools of a checkout: `python -m devtools <command>`."""

from devtools.cli import main

if __name__ == "__main__":
    main()
