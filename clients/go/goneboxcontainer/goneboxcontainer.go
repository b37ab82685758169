// Package goneboxcontainer starts Gonebox in a container for tests, with Testcontainers for Go.
//
// It is a module of its own, so that the client does not depend on Testcontainers. Where there is a binary and no container
// engine, package goneboxtest of the client starts one.
package goneboxcontainer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// Image is the image of the newest release. A project pins a version by another tag.
const Image = "ghcr.io/gonebox/gonebox:latest"

// Key is the developer key of the service in the container, unless the environment of the container has another
// GONEBOX_DEV_KEY. It is no secret: the service accepts it from this machine and private networks alone, which need no
// credentials for anything else either.
const Key = "x_hgj79ngfrz_trbU7JHG2k5NV41q1En5Fw6Bq0BYxP8w5TyuYY0U3cI2uHePp"

// The ports of "gonebox serve --dev" and the variables of its environment.
const (
	httpPort    = "8080/tcp"
	smtpPort    = "1025/tcp"
	mailpitPort = "8025/tcp"
	devKey      = "GONEBOX_DEV_KEY"
	devHosts    = "GONEBOX_DEV_HOSTS"
	selfSigned  = "GONEBOX_SMTP_TLS_SELF_SIGNED"
)

// Container is a running Gonebox in a container.
type Container struct {
	*testcontainers.DockerContainer
	URL     string // of the API and the pages, such as http://localhost:32768
	SMTP    string // HOST:PORT for the mail of the application under test: any address, without a user; a user's goes to the project of that name
	Mailpit string // URL of the APIs of Mailpit and MailHog
	Key     string // the developer key
}

// Run starts a container of an image, such as Image, and returns it when the service is ready. Options come after those of
// Run, so they can replace the command, "serve --dev", the wait and each variable of the environment. If Run fails, the
// container may exist nevertheless: testcontainers.TerminateContainer and CleanupContainer take it, and nil.
//
// A mailbox is made with a client of Container.URL. An application in a container of the same network sends its mail to
// port 1025 of the network alias that testcontainers network.WithNetwork gives this one.
func Run(ctx context.Context, image string, options ...testcontainers.ContainerCustomizer) (*Container, error) {
	environment := map[string]string{devKey: Key, selfSigned: "false"} // many applications would not trust the certificate
	host, err := daemonHost(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the host of the container engine: %w", err)
	}
	if host != "localhost" { // an engine elsewhere: by its name too the service is called locally (docs/spec/dev.md)
		environment[devHosts] = host
	}
	c, err := testcontainers.Run(ctx, image, append([]testcontainers.ContainerCustomizer{
		testcontainers.WithCmd("serve", "--dev"),
		testcontainers.WithEnv(environment),
		testcontainers.WithExposedPorts(httpPort, smtpPort, mailpitPort),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/readyz").WithPort(httpPort)),
	}, options...)...)
	if c == nil {
		return nil, fmt.Errorf("run %s: %w", image, err)
	}
	started := &Container{DockerContainer: c}
	if err != nil {
		return started, fmt.Errorf("run %s: %w", image, err)
	}
	if err := started.locate(ctx); err != nil {
		return started, fmt.Errorf("inspect the container of %s: %w", image, err)
	}
	return started, nil
}

// daemonHost returns the host by which the ports of containers are reached.
func daemonHost(ctx context.Context) (host string, err error) {
	p, err := testcontainers.NewDockerProvider()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	return p.DaemonHost(ctx)
}

// locate sets what the engine decided, and the key from the environment, which an option may have changed.
func (c *Container) locate(ctx context.Context) error {
	host, err := c.Host(ctx)
	if err != nil {
		return err
	}
	var found [3]string
	for i, port := range []string{httpPort, smtpPort, mailpitPort} {
		mapped, err := c.MappedPort(ctx, port)
		if err != nil {
			return fmt.Errorf("port %s: %w", port, err)
		}
		found[i] = net.JoinHostPort(host, mapped.Port())
	}
	c.URL, c.SMTP, c.Mailpit = "http://"+found[0], found[1], "http://"+found[2]
	details, err := c.Inspect(ctx)
	if err != nil {
		return err
	}
	for _, variable := range details.Config.Env {
		if value, ok := strings.CutPrefix(variable, devKey+"="); ok {
			c.Key = value
		}
	}
	return nil
}
