package dbtest

func createDatabase(name, from string) string {
	return "CREATE DATABASE " + name + " TEMPLATE " + from
}

// What a test left connected does not keep its database.
func dropDatabase(name string) string { return "DROP DATABASE " + name + " WITH (FORCE)" }
