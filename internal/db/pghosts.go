package db

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Where a URL names several hosts, the library tries them in its order, and one that is frozen or has lost its power costs each new
// connection the whole connect timeout. So the monitor probes all hosts at once, and new connections begin with the one that answered.

// hostOf names a host of a configuration.
func hostOf(host string, port uint16) string { return fmt.Sprint(host, " ", port) }

// attempts returns what a configuration tries, in its order. Each host may be tried more than once, with and without TLS.
func attempts(config *pgx.ConnConfig) []*pgconn.FallbackConfig {
	first := &pgconn.FallbackConfig{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}
	return append([]*pgconn.FallbackConfig{first}, config.Fallbacks...)
}

// setAttempts makes a configuration try all, in this order.
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

// connect opens and closes a connection that is not monitored, to all hosts at the same time, and returns when one has accepted it: that is
// preferred from then on. If none does, it returns nil all the same where a host refused it with an error of its own, since that is up, too.
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
