"""What a repository's files say about its environment, one file per ecosystem."""
