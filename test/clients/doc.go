// Package clients tests the clients below clients/ against the built program, as a user installs them: packed, in an empty folder.
// The programs that run there are below testdata. The commands that are clients of any service are tested with the same faulty
// service.
package clients
