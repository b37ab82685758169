package dbtest

// Copying files takes half the time of writing the copy to a log that no test needs.
func createDatabase(name, from string) string {
	return "CREATE DATABASE " + name + " TEMPLATE " + from + " STRATEGY FILE_COPY"
}

// What a test left connected does not keep its database.
func dropDatabase(name string) string { return "DROP DATABASE " + name + " WITH (FORCE)" }
