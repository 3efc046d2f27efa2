"""Entry point of the command line: ``curplus`` or ``python -m curplus``."""

import sys


def main() -> None:
    """Run the command line, or name the extra that it needs."""
    try:
        from .cli.main import run
    except ImportError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit("The command line needs Typer and Rich: pip install 'curplus[cli]'.")
    run()


if __name__ == "__main__":
    main()
