module github.com/gonebox/gonebox/clients/go

go 1.23
