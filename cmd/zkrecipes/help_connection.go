package main

// helpConnectionShort is the part of the help of all verbs that ask ZooKeeper, but of
// "run", which has helpConnection.
const helpConnectionShort = `
Reaching ZooKeeper: --servers HOST:PORT[,HOST:PORT...][/CHROOT], --session-timeout D, --auth-file FILE or
ZKRECIPES_AUTH, --tls with --tls-ca FILE, --tls-cert FILE, --tls-key FILE and --tls-server-name NAME. Each
flag can also be a variable, such as ZKRECIPES_SERVERS, or a line of a file (--config FILE), such as
ZKRECIPES_SERVERS=zk1:2181. "zkrecipes help run" says more about all of these.
`

// helpConnection is about the flags that all verbs share which ask ZooKeeper, and about
// flags that are not on the command line.
const helpConnection = `
Reaching ZooKeeper:
  --servers HOST:PORT[,HOST:PORT...][/CHROOT]
                          the servers
  --session-timeout D     how long ZooKeeper keeps a session that is silent (15s); servers may
                          shorten or lengthen it
  --auth-file FILE        credentials, one SCHEME:SECRET per line, such as digest:user:password;
                          empty lines and lines that begin with # are skipped. A file without
                          credentials is refused, and one that users other than its owner may read
                          or write (chmod 600 FILE); if it belongs to root, its group may read it.
  ZKRECIPES_AUTH          one more, as a variable. There is no flag for a secret, because all users of
                          the machine can read flags. Secrets are never printed.
  --tls                   encrypt connections, with TLS 1.2 or newer; the flags below imply it
                          (--tls=false: do not, whatever variables say)
  --tls-ca FILE           the authorities that sign the servers' certificates, in PEM (the system's)
  --tls-cert FILE         this client's certificate, and those between it and its authority, in PEM
  --tls-key FILE          its key, in PEM, not encrypted; the file must be private, as that of --auth-file
  --tls-server-name NAME  the name that the servers' certificates must have (the host in --servers)
                          Each connection reads the files again, so they can be replaced at any time. If
                          one cannot be read, the attempt to connect fails, and zkrecipes tries again.

Flags as variables: each flag can be set in the environment or in a file instead, as ZKRECIPES_ and its name
in capitals, with _ for each -: ZKRECIPES_SERVERS=zk1:2181, ZKRECIPES_TLS_CA=/etc/zk/ca.pem,
ZKRECIPES_JSON=true.
  --config FILE           lines NAME=value with these names; also as ZKRECIPES_CONFIG. Lines that begin with #
                          are skipped. A value may be in quotes, and stands for itself: neither $ nor \
                          is special, and \ must be in single quotes. To systemd it is an EnvironmentFile.
                          Names that zkrecipes does not know are refused, and a file with ZKRECIPES_AUTH
                          that is not private, as that of --auth-file must be.
The command line wins over the environment, and that over the file. So does a flag that contradicts another:
--try on the command line makes zkrecipes ignore ZKRECIPES_TIMEOUT. An empty variable counts as not set.
`
