package main

import (
	"context"
	"errors"
	"sync"
)

// together runs do on n connections to an HTTP server at the same time.
func together(ctx context.Context, n int, addr string, do func(c *caller, worker, workers int) error) error {
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			c, err := dial(ctx, addr)
			if err != nil {
				errs[i] = err
				return
			}
			defer c.conn.Close()
			errs[i] = do(c, i, n)
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
