package zktest_test

import (
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// Any ZooKeeper client can talk to the server.
func Example() {
	server, err := zktest.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	client, events, err := zk.Connect([]string{server.Addr()}, 10*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() {
		client.Close()
		for range events { // wait until the client's goroutines have ended
		}
	}()
	path, err := client.Create("/jobs-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	fmt.Println(path, err)
	fmt.Println(server.Count(zktest.OpCreate), len(server.Sessions()))
	// Output:
	// /jobs-0000000000 <nil>
	// 1 1
}
