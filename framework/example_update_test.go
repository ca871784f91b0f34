package framework_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Several processes add themselves to a list. The write of none of them is undone by
// another: each is over the version that was read. To add a name that is in the list
// already changes nothing, so it does no harm if change is called again.
func ExampleClient_Update() {
	server, err := zktest.Start() // in your program: the servers of an ensemble
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	ctx := context.Background()
	client, err := framework.Connect(ctx, framework.Config{Servers: []string{server.Addr()}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	if _, err := client.Create(ctx, "/members", []byte("ada"), framework.Persistent); err != nil {
		log.Fatal(err)
	}
	add := func(name string) error {
		return client.Update(ctx, "/members", func(data []byte, _ framework.Stat) (next []byte, write bool, err error) {
			names := strings.Fields(string(data))
			if slices.Contains(names, name) {
				return nil, false, nil
			}
			return []byte(strings.Join(append(names, name), " ")), true, nil
		})
	}
	for _, name := range []string{"grace", "ada"} {
		if err := add(name); err != nil {
			log.Fatal(err)
		}
	}
	data, stat, err := client.Get(ctx, "/members")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, version %d\n", data, stat.Version)
	// Output: ada grace, version 1
}
