package ensemble

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"

	"github.com/zkrecipes/zkrecipes/integration/internal/ports"
)

// officialImage is used unless ZKRECIPES_IMAGE names another one that reads the same
// environment.
const officialImage = "zookeeper:3.9"

// callLimit bounds calls to the engine that are not bounded by a context of the caller.
const callLimit = 2 * time.Minute

// hostPart is the host number of the first server in its network; the engine itself
// takes the first.
const hostPart = 10

// prepareContainers creates the network and the containers of an ensemble.
//
// The servers get fixed addresses. Names would do, but a Java server that asks for the
// name of a peer before the peer is there remembers it as missing for ten seconds.
func prepareContainers(ctx context.Context, o Options) (_ *cluster, err error) {
	client, err := connectEngine()
	if err != nil {
		return nil, err
	}
	image, err := ensureImage(ctx, client)
	if err != nil {
		return nil, err
	}
	sweepOnce.Do(func() { sweep(client) })

	s := &site{client: client, image: image, name: fmt.Sprintf("zkrecipes-%08x", rand.Uint32())}
	c := &cluster{teardown: s.teardown}
	if err := s.build(ctx, o); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	for _, n := range s.containers {
		c.nodes = append(c.nodes, n)
	}
	return c, nil
}

func connectEngine() (*docker.Client, error) {
	pool, err := dockertest.NewPool("")
	if err != nil {
		return nil, fmt.Errorf("container engine: %w", err)
	}
	if err := pool.Client.Ping(); err != nil {
		return nil, fmt.Errorf("no container engine answers at %s: %w: start one with eval \"$(.ci/docker-up)\" "+
			"or point DOCKER_HOST at one", pool.Client.Endpoint(), err)
	}
	return pool.Client, nil
}

// ensureImage returns the name of the image to run, pulled if it is not here yet.
func ensureImage(ctx context.Context, client *docker.Client) (string, error) {
	image := os.Getenv("ZKRECIPES_IMAGE")
	if image == "" {
		image = officialImage
	}
	_, err := client.InspectImage(image)
	if errors.Is(err, docker.ErrNoSuchImage) {
		repository, tag := docker.ParseRepositoryTag(image)
		if tag == "" {
			tag = "latest"
		}
		err = client.PullImage(docker.PullImageOptions{Repository: repository, Tag: tag, Context: ctx}, docker.AuthConfiguration{})
	}
	if err != nil {
		return "", fmt.Errorf("image %s is neither here nor can it be pulled: %w: build one with "+
			"export ZKRECIPES_IMAGE=\"$(.ci/mkimage)\"", image, err)
	}
	return image, nil
}

// A site is the network, image and ports of the containers of one ensemble.
type site struct {
	client     *docker.Client
	image      string
	name       string // of the network, and the beginning of the containers' names
	network    string // id
	subnet     netip.Prefix
	block      *ports.Block // nil unless ports are published
	containers []*container
}

func (s *site) build(ctx context.Context, o Options) (err error) {
	if o.Publish || runtime.GOOS != "linux" {
		if s.block, err = ports.Reserve(); err != nil {
			return err
		}
	}
	if err := s.createNetwork(ctx); err != nil {
		return fmt.Errorf("create network: %w", err)
	}
	for i := range o.Nodes {
		n, err := s.createContainer(ctx, i, o)
		if err != nil {
			return fmt.Errorf("create container: %w", err)
		}
		s.containers = append(s.containers, n)
	}
	return nil
}

// createNetwork makes a network with its own subnet. Fixed addresses need a subnet that
// we choose, but only the engine knows which are free: so it chooses one for a first
// network, and a second one is made with that subnet.
func (s *site) createNetwork(ctx context.Context) error {
	options := docker.CreateNetworkOptions{Name: s.name, Driver: "bridge", Labels: ownerLabels(), Context: ctx}
	var lost error
	for range 5 { // another ensemble may be given the same subnet in between
		trial, err := s.client.CreateNetwork(options)
		if err != nil {
			return err
		}
		info, err := s.client.NetworkInfo(trial.ID)
		if err := errors.Join(err, s.client.RemoveNetwork(trial.ID)); err != nil {
			return err
		}
		if s.subnet, err = firstSubnet(info); err != nil {
			return err
		}
		fixed := options
		fixed.IPAM = &docker.IPAMOptions{Config: []docker.IPAMConfig{{Subnet: s.subnet.String()}}}
		made, err := s.client.CreateNetwork(fixed)
		if err == nil {
			s.network = made.ID
			return nil
		}
		lost = err
	}
	return lost
}

func firstSubnet(n *docker.Network) (netip.Prefix, error) {
	for _, c := range n.IPAM.Config {
		if p, err := netip.ParsePrefix(c.Subnet); err == nil && p.Addr().Is4() {
			return p.Masked(), nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("network %s has no IPv4 subnet", n.Name)
}

// host returns the address of server i in the ensemble's network.
func (s *site) host(i int) string {
	a := s.subnet.Addr()
	for range hostPart + i {
		a = a.Next()
	}
	return a.String()
}

// addr returns the address at which clients on this host reach server i.
func (s *site) addr(i int) string {
	if s.block != nil {
		return s.block.Address(i)
	}
	return net.JoinHostPort(s.host(i), "2181")
}

// secureAddr is the address of server i for TLS clients on this host, "" if it has
// none.
func (s *site) secureAddr(i int, o Options) string {
	switch {
	case o.TLSFolder == "":
		return ""
	case s.block != nil:
		return s.block.Address(o.Nodes + i)
	}
	return net.JoinHostPort(s.host(i), strconv.Itoa(securePort))
}

// environment configures server i the way the official image is configured.
func (s *site) environment(i int, o Options) []string {
	env := []string{
		"ZOO_MY_ID=" + strconv.Itoa(i+1),
		"ZOO_TICK_TIME=" + milliseconds(o.TickTime),
		"ZOO_INIT_LIMIT=" + strconv.Itoa(initLimit),
		"ZOO_SYNC_LIMIT=" + strconv.Itoa(syncLimit),
		"ZOO_MAX_CLIENT_CNXNS=0",
		"ZOO_ADMINSERVER_ENABLED=false",
		"ZOO_4LW_COMMANDS_WHITELIST=*",
		"JVMFLAGS=" + joined(o.jvmFlags()),
	}
	var extra, peers []string
	config := maps.Clone(o.Config)
	if o.TLSFolder != "" {
		config = tlsConfig(o.TLSFolder, securePort)
		maps.Copy(config, o.Config)
	}
	for key, value := range config {
		extra = append(extra, key+"="+value)
	}
	slices.Sort(extra)
	if o.Nodes > 1 {
		for n := range o.Nodes {
			peers = append(peers, fmt.Sprintf("server.%d=%s:2888:3888;2181", n+1, s.host(n)))
		}
		env = append(env, "ZOO_STANDALONE_ENABLED=false", "ZOO_SERVERS="+joined(peers))
	}
	return append(env, "ZOO_CFG_EXTRA="+joined(extra))
}

// teardown removes the containers, all at once, and then their network and ports.
func (s *site) teardown() error {
	errs := make([]error, len(s.containers), len(s.containers)+1)
	var wg sync.WaitGroup
	for i, n := range s.containers {
		wg.Go(func() { errs[i] = n.remove() })
	}
	wg.Wait()
	if s.network != "" {
		errs = append(errs, s.client.RemoveNetwork(s.network))
	}
	if s.block != nil {
		s.block.Release()
	}
	s.client.HTTPClient.CloseIdleConnections()
	return errors.Join(errs...)
}
