package diagnosis

// What tests of this package use.
var (
	IsSimilar   = isSimilar
	IsAddress   = isAddress
	Candidates  = candidates
	Quoted      = quoted
	RefusalCode = refusalCode
	DifferByTwo = differByTwo
)
