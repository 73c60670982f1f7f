"""`python -m cuda_gym` is `cuda-gym`."""

from cuda_gym.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
