// Command bench measures Gonebox side by side with bare libraries and with servers of others, on one machine and in one run:
//
//	go -C test/bench run .            # what make bench runs
//	go -C test/bench run . --quick    # a first impression in a minute or two
//	go -C test/bench run . --only mail,polls
//	go -C test/bench run . --only mail --against REV  # with the service as it was at that revision
//	go -C test/bench run . --only soak --duration 1h --csv soak.csv
//
// The folder retention measures, by a clock that it moves, what PostgreSQL still holds after hours of mail
// (go -C test/bench test ./retention).
//
// Absolute figures say more about the machine than about the program, so nothing here passes or fails by them: contestants take
// turns in short slices, ratios are formed within a round, and the median of the rounds is what counts. Beside each rate stands
// the CPU time it cost, which is the steadiest figure where others use the same cores.
//
// Inbucket and Mailpit are built from their modules once and kept in the user's cache folder; Postfix is the system's. One that cannot
// be built or found is named in the report and left out.
//
// It is a module of its own, so that what it needs to compare itself with never becomes a dependency of the service. The command imports
// nothing of the service and knows it only as a program that speaks SMTP and HTTP. It runs on Linux, since it
// reads /proc, talks to loopback addresses only, and ends every process that it starts.
package main
