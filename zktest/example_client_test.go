package zktest_test

import (
	"fmt"
	"log"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// noLog is a logger of go-zookeeper that writes nothing.
type noLog struct{}

func (noLog) Printf(string, ...any) {}

// Without a test, and with another client library.
func ExampleStart() {
	server, err := zktest.Start()
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client, events, err := zk.Connect([]string{server.Addr()}, 10*time.Second, zk.WithLogger(noLog{}))
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		client.Close()
		for range events { // until the client's goroutines have ended
		}
	}()

	path, err := client.Create("/jobs-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	fmt.Println(path, err)
	fmt.Println(server.Count(zktest.OpCreate), len(server.Sessions()))
	// Output:
	// /jobs-0000000000 <nil>
	// 1 1
}
