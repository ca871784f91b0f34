package ensemble

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/ory/dockertest/v3/docker"
)

// ownerLabel marks containers and networks with the program that made them:
// "host/process id".
const ownerLabel = "zkrecipes.owner"

var sweepOnce sync.Once

func ownerLabels() map[string]string {
	host, _ := os.Hostname()
	return map[string]string{ownerLabel: host + "/" + strconv.Itoa(os.Getpid())}
}

// sweep removes what programs of this host that died have left. It ignores errors: what
// is left costs memory, but no test depends on its absence.
func sweep(client *docker.Client) {
	containers, err := client.ListContainers(docker.ListContainersOptions{
		All: true, Filters: map[string][]string{"label": {ownerLabel}},
	})
	if err != nil {
		return
	}
	for _, c := range containers {
		if orphaned(c.Labels[ownerLabel]) {
			_ = client.RemoveContainer(docker.RemoveContainerOptions{ID: c.ID, Force: true, RemoveVolumes: true})
		}
	}
	networks, err := client.FilteredListNetworks(docker.NetworkFilterOpts{"label": {ownerLabel: true}})
	if err != nil {
		return
	}
	for _, n := range networks {
		if orphaned(n.Labels[ownerLabel]) {
			_ = client.RemoveNetwork(n.ID)
		}
	}
}

// orphaned reports whether owner was a process of this host and is gone.
func orphaned(owner string) bool {
	host, id, ok := strings.Cut(owner, "/")
	pid, err := strconv.Atoi(id)
	if here, _ := os.Hostname(); !ok || err != nil || host != here {
		return false
	}
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
