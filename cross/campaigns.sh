#!/bin/sh
# All of `make campaigns`: each at its full size, one after the other, with the minutes it takes on two processors. Every one
# runs, even after one has failed; the end says which. ONLY="kill line" runs these alone.
set -u
make=${MAKE:-make}
failed=''

list() {
	cat <<-'TABLE'
		mutants   90
		sim       15 SEEDS=5000
		kill      20 N=5000
		change    15 N=300
		powercut  10 STATES=20000
		cut       10 MUTATIONS=200 KILLS=100
		line      15 FRAMES=200000
		lossy     10 OPS=100000
		upstream  15 N=2000
		disk      10 N=2000
		books     10 N=100000
		million    5 N=1000000
		reconcile  2 N=100000
		enrol     20 N=20
		update     5
		methods    5
		printer   10 DEATHS=500
		badinput   5
		doctor-bench 10
		migrate   20 N=1000000 KILLS=50
		fleet     15 TERMINALS=1000 ROUNDS=20 SECONDS=30
		keypad     5
		guest      5
		visit     10
		fuzz      20 T=1m
	TABLE
}

chosen() {
	list | while read -r name rest; do
		case " ${ONLY:-$name} " in *" $name "*) echo "$name $rest" ;; esac
	done
}

chosen | awk '{ print "campaign " $1 ": " $2 " minutes"; sum += $2 } END { printf "in all %d hours %d minutes on two processors\n", sum / 60, sum % 60 }'
IFS='
'
for campaign in $(chosen); do
	IFS=' '
	set -- $campaign
	name=$1 minutes=$2
	shift 2
	echo "== $name ($minutes minutes)"
	start=$(date +%s)
	$make "$name" "$@" || failed="$failed $name"
	echo "== $name took $((($(date +%s) - start + 30) / 60)) minutes"
done
if [ -n "$failed" ]; then
	echo "== FAILED:$failed"
	exit 1
fi
echo '== all passed'
