package framework

import (
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
)

func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{"a", "a:1,b:2/c", "[::1]:2181", "::1", "a//b", "/", "//", ",", "zk://a", "a:1:2", "a/b/", "[", "]:1", "a%eth0", " a , b ", "[ 0"} {
		f.Add(seed, "")
	}
	f.Add("a", "//")
	f.Add("a//", "/b")
	f.Fuzz(func(t *testing.T, servers, chroot string) {
		addrs, root, err := Config{Servers: []string{servers}, Chroot: chroot}.addresses()
		if err != nil {
			assert.True(t, errors.Is(err, ErrInvalidArgument) || errors.Is(err, ErrInvalidPath), "%v", err)
			assert.Contains(t, err.Error(), "config.")
			return
		}
		assert.NotEmpty(t, addrs)
		for _, addr := range addrs {
			host, port, err := net.SplitHostPort(addr)
			assert.NoError(t, err)
			assert.NotEmpty(t, host)
			assert.NotEmpty(t, port)
		}
		if root != "" {
			assert.NoError(t, validatePath(root, false))
			assert.NotEqual(t, "/", root)
		}
		again, sameRoot, err := Config{Servers: addrs, Chroot: root}.addresses()
		assert.NoError(t, err)
		assert.Equal(t, addrs, again)
		assert.Equal(t, root, sameRoot)
	})
}
