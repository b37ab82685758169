package score

import (
	"maps"
	"slices"
)

// rows are the features of the table by name, for tests that change a weight.
var rows = map[string]*feature{
	"secretTyped": secretTyped,
	"gainCode":    gainCode, "gainWord": gainWord, "gainBoth": gainBoth, "gainAimed": gainAimed,
	"gainOnce": gainOnce, "gainPassword": gainPassword, "gainUser": gainUser, "saidAfter": saidAfter,
	"subjectBacks": subjectBacks, "subjectWord": subjectWord, "subjectName": subjectName, "tiedWord": tiedWord,
	"tiedCost": tiedCost, "closingNumber": closingNumber, "rivalCost": rivalCost, "softCost": softCost,
	"leftWordCost": leftWordCost, "farWordCost": farWordCost, "leftSentenceCost": leftSentenceCost, "leftBreakCost": leftBreakCost,
	"loneWordCost": loneWordCost, "loneSentenceCost": loneSentenceCost, "atOnceCost": atOnceCost, "rightCost": rightCost,
	"rightWordCost": rightWordCost, "rightSentenceCost": rightSentenceCost, "rightBreakCost": rightBreakCost, "loneRightWordCost": loneRightWordCost,
	"loneRightSentenceCost": loneRightSentenceCost, "loneRightBreakCost": loneRightBreakCost, "nounBetween": nounBetween, "nounBetweenSilent": nounBetweenSilent,
	"listedWord": listedWord, "compoundWord": compoundWord, "compoundSilent": compoundSilent, "unknownBefore": unknownBefore,
	"unknownOpening": unknownOpening, "untiedSilent": untiedSilent, "untiedInside": untiedInside, "otherNumbers": otherNumbers,
	"wordTaken": wordTaken, "domainBound": domainBound, "testDigits": testDigits, "yearOfDate": yearOfDate,
	"noYear": noYear, "noYearAsked": noYearAsked, "bareLetters": bareLetters, "lossNot": lossNot,
	"lossVoid": lossVoid, "ownerHeld": ownerHeld, "nounAfter": nounAfter, "unitAfter": unitAfter,
	"oldWord": oldWord, "numberSign": numberSign, "toldAbove": toldAbove, "toldBelow": toldBelow,
	"toldNumber": toldNumber, "toldSeven": toldSeven, "toldWord": toldWord, "toldUnknown": toldUnknown,
	"purposeAfter": purposeAfter, "purposeBefore": purposeBefore, "struck": struck, "setApart": setApart,
	"toldToPerson": toldToPerson, "usedAtTime": usedAtTime, "ofPayment": ofPayment, "secretOfNumber": secretOfNumber,
	"secretOfNoun": secretOfNoun, "inQuotation": inQuotation, "besideField": besideField,
	"aloneOnLine": aloneOnLine, "heading": heading, "setLarge": setLarge, "inFooter": inFooter,
	"longInFooter": longInFooter, "inQuote": inQuote, "linkText": linkText, "severalParts": severalParts,
	"inRows": inRows, "vetoed": vetoed, "aboutSigningIn": aboutSigningIn, "subjectSigningIn": subjectSigningIn,
	"warning": warning, "briefOrOnce": briefOrOnce, "firmShare": firmShare, "firmVoidShare": firmVoidShare,
	"voidLetters": voidLetters, "voidSilent": voidSilent, "voidSilentLetters": voidSilentLetters, "neverCode": neverCode,
	"subjectExpired": subjectExpired, "answer": answer, "doneUnnamed": doneUnnamed, "nounUnnamed": nounUnnamed,
	"initialPassword": initialPassword, "receipt": receipt, "trade": trade, "tradeAmount": tradeAmount,
	"settledTrade": settledTrade, "crowd": crowd, "crowdMany": crowdMany, "voidsOnly": voidsOnly,
	"voidsThree": voidsThree, "voidSubject": voidSubject, "voidsTwo": voidsTwo, "voidOnly": voidOnly,
	"voidOne": voidOne, "inPlaceOf": inPlaceOf, "onlyFree": onlyFree, "onlyAtAll": onlyAtAll,
	"setAsCode": setAsCode, "begins": begins, "wholeText": wholeText, "signedInBy": signedInBy,
	"onlyTold": onlyTold, "announcedBelow": announcedBelow, "ownSentence": ownSentence, "endsSubject": endsSubject,
	"onlyInField": onlyInField, "afterColon": afterColon, "unnamed": unnamed, "nothingElse": nothingElse,
	"digits4": digits4, "digits5": digits5, "digits6": digits6, "digits7": digits7,
	"digits8": digits8, "digits9": digits9, "digits10": digits10,
	"yearShape": yearShape, "testShape": testShape, "zerosShape": zerosShape, "pointedShape": pointedShape,
	"fours": fours, "spelled": spelled, "boxedShape": boxedShape, "scaleShape": scaleShape,
	"threes": threes, "threePairs": threePairs, "longGroups": longGroups, "pairDateShape": pairDateShape,
	"cellGroups": cellGroups, "threeFour": threeFour, "fourTwo": fourTwo, "hyphened": hyphened,
	"piecesShape": piecesShape, "fives": fives, "prefixedShape": prefixedShape, "chosenShape": chosenShape,
	"promotion": promotion, "letterGroups": letterGroups, "capitals": capitals, "mixedCase": mixedCase,
	"mixedShape": mixedShape, "mixedOther": mixedOther, "smallDigits": smallDigits, "smallLetters": smallLetters,
	"boxedLetters": boxedLetters,
}

// Features gives the names of all features.
func Features() []string { return slices.Sorted(maps.Keys(rows)) }

// Weight is what the table gives to a feature.
func Weight(name string) float64 { return rows[name].weight }

// Reweigh gives a feature another weight until undo is called.
func Reweigh(name string, weight float64) (undo func()) {
	f := rows[name]
	old := f.weight
	f.weight = weight
	return func() { f.weight = old }
}

// Score is what a candidate that no veto rules out comes to.
type Score struct {
	Value string
	Sum   float64
}

// Scores gives the scores of a mail's candidates, in their order.
func Scores(subject, text, html string) (all []Score) {
	p := Read(subject, text, html)
	defer p.Discard()
	p.findCandidates()
	s := scoring{p: p, cs: p.found}
	s.run()
	for k := range s.cs {
		if c := &s.cs[k]; c.veto == "" {
			all = append(all, Score{p.value(c), c.score})
		}
	}
	return all
}

// Threshold is the score from which a candidate may be the code.
const Threshold = threshold
