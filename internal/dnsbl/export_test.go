package dnsbl

// Reversed exports reversed.
var Reversed = reversed
