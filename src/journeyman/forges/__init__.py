"""Where pull requests live: GitHub, or the local forge of this machine."""
