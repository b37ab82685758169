package app

// DatabaseConnections and DatabaseWaiting export functions to the tests.
var (
	DatabaseConnections = databaseConnections
	DatabaseWaiting     = databaseWaiting
)
