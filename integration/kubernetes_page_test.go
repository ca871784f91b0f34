package integration

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"go.yaml.in/yaml/v3"
)

// The types are the parts of Kubernetes' objects that the manifests use; kubectl 1.32
// takes each of their fields.
type (
	manifest struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   metadata
		Spec       struct {
			podSpec           `yaml:",inline"`
			workload          `yaml:",inline"`
			MaxUnavailable    int `yaml:"maxUnavailable"`
			Schedule          string
			ConcurrencyPolicy string                  `yaml:"concurrencyPolicy"`
			JobTemplate       struct{ Spec workload } `yaml:"jobTemplate"`
		}
	}
	metadata struct {
		Name   string
		Labels map[string]string
	}
	workload struct {
		Replicas     int
		BackoffLimit int `yaml:"backoffLimit"`
		Selector     struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata metadata
			Spec     podSpec
		}
	}
	podSpec struct {
		TerminationGracePeriodSeconds int         `yaml:"terminationGracePeriodSeconds"`
		RestartPolicy                 string      `yaml:"restartPolicy"`
		InitContainers                []container `yaml:"initContainers"`
		Containers                    []container
	}
	container struct {
		Name, Image string
		Command     []string
		Env         []struct {
			Name, Value string
			ValueFrom   struct {
				FieldRef struct {
					FieldPath string `yaml:"fieldPath"`
				} `yaml:"fieldRef"`
				SecretKeyRef struct{ Name, Key string } `yaml:"secretKeyRef"`
			} `yaml:"valueFrom"`
		}
		Ports []struct {
			Name          string
			ContainerPort int `yaml:"containerPort"`
		}
		ReadinessProbe podProbe `yaml:"readinessProbe"`
		LivenessProbe  podProbe `yaml:"livenessProbe"`
		Lifecycle      struct {
			PreStop struct{ Exec struct{ Command []string } } `yaml:"preStop"`
		}
		Resources struct{ Requests, Limits map[string]string }
	}
	podProbe struct {
		HTTPGet struct {
			Path, Port string
		} `yaml:"httpGet"`
		PeriodSeconds    int `yaml:"periodSeconds"`
		FailureThreshold int `yaml:"failureThreshold"`
	}
)

// closeGrace is that of the Go block of the page.
var closeGrace = regexp.MustCompile(`CloseGrace: +(\d+) \* time\.Second`)

// reference is what Kubernetes replaces in a command.
var reference = regexp.MustCompile(`\$\((\w+)\)`)

// The manifests of docs/kubernetes.md have no field that their kind does not have, as
// far as this knows them, selectors find their pods, pods have the time that they need
// to end, and the command's lines are as the command takes them.
func TestManifestsOfTheKubernetesPage(t *testing.T) {
	page, text := readPage(t, "../docs/kubernetes.md")
	kinds := map[string]string{
		"Deployment": "apps/v1", "PodDisruptionBudget": "policy/v1", "CronJob": "batch/v1", "Pod": "v1",
	}
	grace := closeGrace.FindStringSubmatch(text)
	require.NotNil(t, grace)
	closing, err := time.ParseDuration(grace[1] + "s")
	require.NoError(t, err)
	commands := 0
	for _, block := range page.Blocks {
		if block.Info != "yaml" {
			continue
		}
		var object manifest
		decoder := yaml.NewDecoder(strings.NewReader(block.Text))
		decoder.KnownFields(true)
		require.NoError(t, decoder.Decode(&object), block.Text)
		require.Equal(t, kinds[object.Kind], object.APIVersion, object.Kind)
		require.NotEmpty(t, object.Metadata.Name)
		if object.Kind == "Deployment" {
			require.NotEmpty(t, object.Spec.Selector.MatchLabels)
			assert.Equal(t, object.Spec.Template.Metadata.Labels, object.Spec.Selector.MatchLabels)
		}
		for _, pod := range []podSpec{object.Spec.podSpec, object.Spec.Template.Spec, object.Spec.JobTemplate.Spec.Template.Spec} {
			for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
				needs := timeToEnd(t, c)
				if len(c.Command) > 0 {
					commands++
					checkContainerCommand(t, c)
				} else {
					needs += closing
				}
				most := time.Duration(cmp.Or(pod.TerminationGracePeriodSeconds, 30)) * time.Second
				assert.Less(t, needs, most, "%s: SIGKILL comes before it has released", c.Name)
			}
		}
	}
	require.Equal(t, 3, commands)
}

// timeToEnd is what a container needs behind the signal to end, as far as its manifest
// says it.
func timeToEnd(t *testing.T, c container) (all time.Duration) {
	t.Helper()
	if stop := c.Lifecycle.PreStop.Exec.Command; len(stop) > 0 {
		require.Equal(t, "sleep", stop[0])
		pause, err := time.ParseDuration(stop[1] + "s")
		require.NoError(t, err)
		all += pause
	}
	if at := slices.Index(c.Command, "--kill-after"); at > 0 {
		pause, err := time.ParseDuration(c.Command[at+1])
		require.NoError(t, err)
		all += pause
	}
	if len(c.Command) > 0 && c.Command[0] == "zkrecipes" { // its wait for a server that deletes the node
		require.NotContains(t, c.Command, "--session-timeout", "count it here")
		all += framework.DefaultSessionTimeout
	}
	return all
}

// checkContainerCommand runs the command of a container in place, with a program that
// exists, and without servers: it gets as far as that these are missing. What
// Kubernetes replaces in it are variables of the container.
func checkContainerCommand(t *testing.T, c container) {
	t.Helper()
	command := c.Command
	require.Equal(t, "zkrecipes", command[0])
	var names []string
	for _, variable := range c.Env {
		names = append(names, variable.Name)
	}
	for _, m := range reference.FindAllStringSubmatch(strings.Join(command, " "), -1) {
		require.Contains(t, names, m[1])
	}
	end := slices.Index(command, "--")
	require.Positive(t, end)
	args := append(slices.Clone(command[1:end]), "--", "true")
	r := startCommand(t, "", args...)
	require.Equal(t, 64, r.exit(t), "%v", command)
	require.Contains(t, r.stderr.String(), "no servers", "%v", command)
}
