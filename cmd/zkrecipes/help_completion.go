package main

const helpCompletion = `usage: zkrecipes completion bash|zsh|fish
       zkrecipes completion paths PATH [WORD...]

Prints a script that makes a shell complete verbs, flags, file names, and paths of ZooKeeper. It needs
no other package.

The scripts contain the verbs and flags of this version: write them again after an update.

"zkrecipes completion paths PATH" is what they call for a path: it prints the paths that begin with PATH and
have no further slash, one a line, sorted. Nodes whose names end in ten digits are left out, as those of
clients that hold a lock or wait for it; so are paths with other characters than a-z, A-Z, 0-9
and /._-+:,@%= because a shell may give these a meaning. Of the other WORDs of the command line it uses
the flags that say how to reach ZooKeeper, else the environment, as all verbs do. It never takes longer than
a second, and prints nothing, with exit code 0, if it fails, or if there are more than 1000 nodes. As all
verbs do, it begins a session, which the servers write down.

Exit codes: 0; 64 usage.

Examples:
  For bash, in ~/.bashrc:
      source <(zkrecipes completion bash)
  For zsh, in ~/.zshrc, after compinit:
      source <(zkrecipes completion zsh)
  For fish, in ~/.config/fish/config.fish:
      zkrecipes completion fish | source
  For all users:
      zkrecipes completion bash >/etc/bash_completion.d/zkrecipes    # needs the package bash-completion
      zkrecipes completion zsh >/usr/local/share/zsh/site-functions/_zkrecipes
      zkrecipes completion fish >/etc/fish/completions/zkrecipes.fish
`
