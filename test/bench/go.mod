module github.com/gonebox/gonebox/test/bench

go 1.26.0

require (
	github.com/emersion/go-smtp v0.25.1 // a contestant
	github.com/miekg/dns v1.1.73 // the resolver that the service asks
	golang.org/x/sys v0.49.0
)

require (
	github.com/emersion/go-sasl v0.0.0-20241020182733-b788ff22d5a6 // indirect
	golang.org/x/net v0.62.0 // indirect
)
