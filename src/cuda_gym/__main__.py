"""`python -m cuda_gym` is `cuda-gym`."""

__all__ = ["main"]


def main() -> int:
    """Run what was typed; an interruption while this program is still being loaded is one, too."""
    try:
        from cuda_gym.cli.main import main as run
    except KeyboardInterrupt:
        return 130
    return run()


if __name__ == "__main__":
    raise SystemExit(main())
