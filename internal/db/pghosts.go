package db

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// If a URL names several hosts, pgx tries them in that order, and each new connection would wait for the whole connect timeout of a host that
// is frozen or has lost its power. The monitor therefore probes all hosts at once, and new connections begin with the one that answered.

// hostOf returns a name for a host of a configuration, by which hosts are compared.
func hostOf(host string, port uint16) string { return fmt.Sprint(host, " ", port) }

// attempts returns the connection attempts of a configuration, in order. There may be several for a host, with and without TLS.
func attempts(config *pgx.ConnConfig) []*pgconn.FallbackConfig {
	first := &pgconn.FallbackConfig{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}
	return append([]*pgconn.FallbackConfig{first}, config.Fallbacks...)
}

// setAttempts sets the connection attempts of a configuration.
func setAttempts(config *pgx.ConnConfig, all []*pgconn.FallbackConfig) {
	config.Host, config.Port, config.TLSConfig, config.Fallbacks = all[0].Host, all[0].Port, all[0].TLSConfig, all[1:]
}

// perHost returns a configuration for each host that config names.
func perHost(config *pgx.ConnConfig) (split []*pgx.ConnConfig) {
	var names []string
	byHost := make(map[string][]*pgconn.FallbackConfig)
	for _, a := range attempts(config) {
		name := hostOf(a.Host, a.Port)
		if byHost[name] == nil {
			names = append(names, name)
		}
		byHost[name] = append(byHost[name], a)
	}
	for _, name := range names {
		c := config.Copy()
		setAttempts(c, byHost[name])
		split = append(split, c)
	}
	return split
}

// preferHost makes a configuration begin with the host that last answered the monitor, if one has.
func (m *monitor) preferHost(_ context.Context, config *pgx.ConnConfig) error {
	preferred := m.preferred.Load()
	if preferred == nil {
		return nil
	}
	all := attempts(config)
	slices.SortStableFunc(all, func(a, b *pgconn.FallbackConfig) int {
		return rank(a, *preferred) - rank(b, *preferred)
	})
	setAttempts(config, all)
	return nil
}

func rank(a *pgconn.FallbackConfig, preferred string) int {
	if hostOf(a.Host, a.Port) == preferred {
		return 0
	}
	return 1
}

// connect opens a connection to each host, at the same time and without monitoring it, and closes it. It returns nil when the first host has
// accepted its connection; that host is preferred from then on. If no host accepts a connection, it still returns nil if one has answered
// with an error of PostgreSQL, since its server is running.
func (m *monitor) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	errs := make(chan error, len(m.probing))
	for _, config := range m.probing {
		m.running.Go(func() {
			conn, err := pgx.ConnectConfig(ctx, config)
			if err == nil {
				name := hostOf(config.Host, config.Port)
				m.preferred.Store(&name)
				_ = conn.Close(ctx) // the server has answered
			}
			errs <- err
		})
	}
	var failed error
	for range m.probing {
		err := <-errs
		if err == nil {
			return nil
		}
		failed = errors.Join(failed, err)
	}
	if _, answered := errors.AsType[*pgconn.PgError](failed); answered {
		return nil
	}
	return failed
}
