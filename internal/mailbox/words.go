package mailbox

import "strings"

// The words of generated local parts: short, unmistakable when read aloud, and inoffensive.
var (
	adjectives = strings.Fields(`able agile alert amber ample apt azure basic bold brave brief bright brisk calm candid
		casual cheery civil clean clear clever cool cosmic cozy crisp curly dapper daring deep deft dusty eager early earnest
		easy even fair fancy fast fine firm fleet fluffy fond fresh frosty gentle giant glad golden grand green handy happy
		hardy hasty hazel honest humble ideal ivory jolly jovial keen kind late lean light lively local loyal lucid lucky
		lunar magic major mellow merry mighty mild misty modest neat nimble noble novel olive open orange patient placid plain
		polite prime proud pure quick quiet rapid rare ready regal rosy royal rural sandy scarlet serene sharp shiny silent
		silver simple sleek smart smooth snug solar solid sonic speedy spry stable steady still sunny super sure swift tender
		tidy tiny topaz tranquil true trusty upbeat urban valid vast velvet violet vital vivid warm wavy wild windy wise witty
		young zany zesty`)
	animals = strings.Fields(`alpaca antelope badger beaver bison bobcat buffalo bunny camel canary cardinal caribou cat
		cheetah chipmunk cicada cobra condor coral cougar coyote crane cricket crow curlew deer dingo dolphin donkey dove dragon
		duck eagle egret elk emu falcon ferret finch firefly flamingo fox gazelle gecko gibbon giraffe goose gopher grouse gull
		hare hawk hedgehog heron hippo hornet horse hummingbird husky ibex ibis iguana impala jackal jaguar jay kestrel
		kingfisher kiwi koala lark lemur leopard lion lizard llama lobster lynx macaw magpie manatee marlin marmot marten
		meerkat mink mole moose moth mouse newt ocelot octopus orca oriole osprey ostrich otter owl ox oyster panda panther
		parrot peacock pelican penguin pigeon pony puffin puma quail rabbit raccoon raven reindeer robin salmon seal shark sheep
		shrew sloth snail sparrow squid squirrel starling stoat stork swallow swan swift tapir tiger toad toucan trout turtle
		viper vole walrus weasel whale wolf wombat woodpecker wren yak zebra`)
)
