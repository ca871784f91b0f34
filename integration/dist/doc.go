// Package dist holds tests of what "make dist" builds, in containers: the Debian package
// and the image. They take the files from bin/dist, and fail if these are missing.
package dist
