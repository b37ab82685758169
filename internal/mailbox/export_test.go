package mailbox

// What the tests of this package look at from outside.
var (
	Generated  = generated
	Adjectives = adjectives
	Animals    = animals
)
