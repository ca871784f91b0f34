package ensemble

import (
	"path/filepath"
	"strconv"
)

// securePort is the port for TLS of servers that have their own host.
const securePort = 2281

// tlsConfig holds the lines of zoo.cfg for a port that takes TLS, with files in folder.
// ZooKeeper's usual network code knows no TLS.
func tlsConfig(folder string, port int) map[string]string {
	return map[string]string{
		"secureClientPort":        strconv.Itoa(port),
		"serverCnxnFactory":       "org.apache.zookeeper.server.NettyServerCnxnFactory",
		"ssl.clientAuth":          "need",
		"ssl.keyStore.location":   filepath.Join(folder, ServerFile),
		"ssl.keyStore.type":       "PEM",
		"ssl.trustStore.location": filepath.Join(folder, ClientsFile),
		"ssl.trustStore.type":     "PEM",
	}
}
