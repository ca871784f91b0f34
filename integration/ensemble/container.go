package ensemble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/ory/dockertest/v3/docker"
)

// A container is a Node that runs in its own container.
type container struct {
	client  *docker.Client
	id      string
	addr    string
	secure  string
	network string
	place   *docker.EndpointConfig // its fixed address in the network

	mu     sync.Mutex
	wanted bool // started, and not ended on purpose
}

// createContainer makes the container of server i without starting it.
func (s *site) createContainer(ctx context.Context, i int, o Options) (*container, error) {
	const port = docker.Port("2181/tcp")
	n := &container{
		client:  s.client,
		addr:    s.addr(i),
		secure:  s.secureAddr(i, o),
		network: s.network,
		place:   &docker.EndpointConfig{IPAMConfig: &docker.EndpointIPAMConfig{IPv4Address: s.host(i)}},
	}
	host := &docker.HostConfig{NetworkMode: s.name}
	exposed := map[docker.Port]struct{}{port: {}}
	inside := map[docker.Port]string{port: n.addr}
	if o.TLSFolder != "" {
		host.Binds = []string{o.TLSFolder + ":" + o.TLSFolder + ":ro"}
		secure := docker.Port(strconv.Itoa(securePort) + "/tcp")
		exposed[secure], inside[secure] = struct{}{}, n.secure
	}
	if s.block != nil {
		host.PortBindings = map[docker.Port][]docker.PortBinding{}
		for port, addr := range inside {
			ip, hostPort, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			host.PortBindings[port] = []docker.PortBinding{{HostIP: ip, HostPort: hostPort}}
		}
	}
	made, err := s.client.CreateContainer(docker.CreateContainerOptions{
		Name: s.name + "-" + strconv.Itoa(i+1),
		Config: &docker.Config{
			Image:        s.image,
			Env:          s.environment(i, o),
			ExposedPorts: exposed,
			Labels:       ownerLabels(),
		},
		HostConfig:       host,
		NetworkingConfig: &docker.NetworkingConfig{EndpointsConfig: map[string]*docker.EndpointConfig{s.name: n.place}},
		Context:          ctx,
	})
	if err != nil {
		return nil, err
	}
	n.id = made.ID
	return n, nil
}

func (n *container) Addr() string       { return n.addr }
func (n *container) SecureAddr() string { return n.secure }
func (n *container) Kill() error        { return n.end(docker.SIGKILL) }
func (n *container) Stop() error        { return n.end(docker.SIGTERM) }
func (n *container) Pause() error       { return wrap("pause", n.pause()) }
func (n *container) Resume() error      { return wrap("resume", n.client.UnpauseContainer(n.id)) }

func (n *container) Start(ctx context.Context) error {
	err := n.client.StartContainerWithContext(n.id, nil, ctx)
	var running *docker.ContainerAlreadyRunning
	if err != nil && !errors.As(err, &running) {
		return wrap("start", err)
	}
	n.want(true)
	return nil
}

// end sends a signal and waits until the container has stopped; if it does not in time,
// it is killed.
func (n *container) end(s docker.Signal) error {
	n.want(false)
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	err := n.client.KillContainer(docker.KillContainerOptions{ID: n.id, Signal: s, Context: ctx})
	var gone *docker.ContainerNotRunning
	if errors.As(err, &gone) {
		return nil
	}
	if err == nil {
		_, err = n.client.WaitContainerWithContext(n.id, ctx)
	}
	if err != nil && s != docker.SIGKILL {
		return errors.Join(wrap("stop", err), n.end(docker.SIGKILL))
	}
	return wrap("kill", err)
}

func (n *container) Isolate() error {
	return wrap("isolate", n.client.DisconnectNetwork(n.network, docker.NetworkConnectionOptions{Container: n.id}))
}

func (n *container) Heal() error {
	return wrap("heal", n.client.ConnectNetwork(n.network,
		docker.NetworkConnectionOptions{Container: n.id, EndpointConfig: n.place}))
}

func (n *container) Log() string {
	text, err := n.logs("40")
	if err != nil {
		text += fmt.Sprintf("no log: %v", err)
	}
	return lastLines(text)
}

func (n *container) Logged(text string) ([]string, error) {
	log, err := n.logs("all")
	return containing(log, text), err
}

// logs returns the last lines that the container wrote, or "all".
func (n *container) logs(lines string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	var text bytes.Buffer
	err := n.client.Logs(docker.LogsOptions{
		Container: n.id, OutputStream: &text, ErrorStream: &text, Stdout: true, Stderr: true, Tail: lines, Context: ctx,
	})
	return text.String(), wrap("logs", err)
}

func (n *container) alive() error {
	n.mu.Lock()
	wanted := n.wanted
	n.mu.Unlock()
	if !wanted {
		return nil
	}
	c, err := n.client.InspectContainer(n.id)
	if err != nil || c.State.Running {
		return wrap("inspect", err)
	}
	return fmt.Errorf("ended by itself: exit status %d; the end of its log:\n%s", c.State.ExitCode, n.Log())
}

func (n *container) want(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wanted = on
}

func (n *container) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	return wrap("remove container", n.client.RemoveContainer(docker.RemoveContainerOptions{
		ID: n.id, Force: true, RemoveVolumes: true, Context: ctx,
	}))
}

// wrap names what failed; nil stays nil.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func joined(words []string) string { return strings.Join(words, " ") }

// pause tries again: a busy kernel sometimes gives up freezing a container.
func (n *container) pause() (err error) {
	for range 3 {
		if err = n.client.PauseContainer(n.id); err == nil || !strings.Contains(err.Error(), "unable to freeze") {
			return err
		}
	}
	return err
}
