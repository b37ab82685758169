package filter

// FairShare exports fairShare.
var FairShare = fairShare
