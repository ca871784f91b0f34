// Package release tests the scripts that make a release, .ci/release, .ci/apidiff,
// .ci/set-version, .ci/as-user and .ci/history: in temporary repositories with a small
// tree that has the layout of this one, and with this tree. They need git and GNU
// tools, and download the tool apidiff.
package release
