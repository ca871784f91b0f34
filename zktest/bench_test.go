package zktest_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

func BenchmarkCreateDelete(b *testing.B) {
	for _, bench := range []struct {
		name string
		opts []zktest.Option
	}{{"TCP", nil}, {"memory", []zktest.Option{zktest.WithNetwork(new(zktest.Network))}}} {
		b.Run(bench.name, func(b *testing.B) {
			s := zktest.NewServer(b, bench.opts...)
			c := connect(b, s, "bench", 10*time.Second)
			for b.Loop() {
				path, err := c.Create("/n-", nil, zk.FlagEphemeral|zk.FlagSequence, open)
				require.NoError(b, err)
				require.NoError(b, c.Delete(path, -1))
			}
		})
	}
}
