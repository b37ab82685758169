package doctor

// AdviseRelay is adviseRelay.
var AdviseRelay = adviseRelay
