package main

// helpConnection is about the flags that all verbs share which ask ZooKeeper.
const helpConnection = `
Reaching ZooKeeper:
  --servers HOST:PORT[,HOST:PORT...][/CHROOT]
                          default: the environment variable ZKRECIPES_SERVERS
  --session-timeout D     how long ZooKeeper keeps a session that is silent (15s); servers may
                          shorten or lengthen it
  --auth-file FILE        credentials, one SCHEME:SECRET per line, such as digest:user:password;
                          empty lines and lines that begin with # are skipped. A file without
                          credentials is refused, and one that users other than its owner may read
                          or write (chmod 600 FILE); if it belongs to root, its group may read it.
  ZKRECIPES_AUTH          one more, from the environment. There is no flag for a secret, because all
                          users of the machine can read flags. Secrets are never printed.
  --tls                   encrypt connections, with TLS 1.2 or newer; the flags below imply it
                          (--tls=false: do not, whatever the environment says)
  --tls-ca FILE           the authorities that sign the servers' certificates, in PEM (the system's)
  --tls-cert FILE         this client's certificate, and those between it and its authority, in PEM
  --tls-key FILE          its key, in PEM, not encrypted; the file must be private, as that of --auth-file
  --tls-server-name NAME  the name that the servers' certificates must have (the host in --servers)
  ZKRECIPES_TLS (true or false), ZKRECIPES_TLS_CA, ZKRECIPES_TLS_CERT, ZKRECIPES_TLS_KEY,
  ZKRECIPES_TLS_SERVER_NAME
                          the same from the environment; a flag overrides it. Each connection reads
                          the files again, so they can be replaced at any time. If a file cannot be
                          read, the attempt to connect fails, and zkrecipes tries again.
`
