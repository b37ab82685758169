package dbtest

// Copying files takes half the time of writing the copy to a log that no test needs.
func createDatabase(name, from string) string {
	return "CREATE DATABASE " + name + " TEMPLATE " + from + " STRATEGY FILE_COPY"
}

// What a test left connected does not keep its database.
func dropDatabase(name string) string { return "DROP DATABASE " + name + " WITH (FORCE)" }

// Segments of the log, each begun and left at once; after a checkpoint they are used again.
const (
	alterSystem = "ALTER SYSTEM SET "
	reloadConf  = "SELECT pg_reload_conf()"

	beginSegments = `DO $$ BEGIN FOR i IN 1..%d LOOP
		PERFORM pg_logical_emit_message(true, '', ''); PERFORM pg_switch_wal(); END LOOP; END $$`
	checkpoint = "CHECKPOINT"
)
