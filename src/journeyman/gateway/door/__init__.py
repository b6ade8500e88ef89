"""The gateway's HTTP door, for agents that bring their own client and run inside a sandbox."""
