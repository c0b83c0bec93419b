import type { Example } from '@mutirao/runtime/help';

/** A command line and what it does. @param command after `mutirao`. */
const show = (command: string, effect: string): Example => ({ command: `mutirao ${command}`, effect });

/** The examples of `mutirao --help`. */
export const firstExamples: readonly Example[] = [
  show('up --detach', 'start a small grid on this machine'),
  show("job submit --array 1-100 --wait -- 'echo {}'", 'run 100 tasks and wait for them'),
  show('task output last 0-2', 'print what the first three tasks printed'),
];

/** Two examples for each command, by its words. Those of the processes (`run broker`) are their own. */
export const examples: Readonly<Record<string, readonly Example[]>> = {
  up: [
    show('up', 'start a cluster of 4 processors and 2 lab machines; Ctrl-C stops them'),
    show('up --detach --clusters 8,4 --machines 2', 'start two clusters and two lab machines in the background'),
  ],
  down: [
    show('down', 'stop the grid of the usual home folder'),
    show('down --home ~/second-grid', 'stop the grid of another home folder'),
  ],
  status: [show('status', 'what runs, and where'), show('status --json', 'the same for a program')],
  web: [
    show('web --open', 'open the page in your browser'),
    show('web --port 8080', 'serve the page at port 8080 of the loopback address'),
  ],
  'job submit': [
    show("job submit --array 1-100 --wait -- 'echo {}'", 'run 100 tasks and wait for them'),
    show(
      'job submit --put sim.py --get result.txt:result-{}.txt --values red,green --wait -- python3 sim.py {}',
      'copy a program to the tasks, and bring a result of each home',
    ),
    show('job submit sweep.jdf', 'submit a job file'),
  ],
  parallel: [
    show('parallel -j4 gzip -k ::: a.txt b.txt', 'compress two files, up to four at a time'),
    show(
      "parallel --joblog log --resume 'sh sim.sh {1} > {1}-{2}.out' ::: 1 2 3 ::: x y",
      'go on after an interruption',
    ),
  ],
  accounting: [
    show('accounting --since 7d', 'what each user used in the last seven days'),
    show('accounting --since 2026-03-01 --until 2026-04-01 --by day --json', 'a month by days, for a program'),
  ],
  'job list': [
    show('job list --status running', 'jobs that are running'),
    show('job list --max 5', 'the last five jobs'),
  ],
  'job show': [show('job show last', 'the job submitted last'), show('job show 3-5', 'three jobs')],
  'job wait': [
    show('job wait last', 'wait for the job submitted last'),
    show('job wait 3-5 --quiet', 'wait for three jobs, and print only their numbers'),
  ],
  'job cancel': [
    show('job cancel last', 'cancel the job submitted last'),
    show('job cancel all --reason "wrong input"', 'cancel every running job'),
    show('job cancel last 3,5-9', 'cancel single tasks of the job submitted last'),
  ],
  'job append': [
    show("job append last --values a,b,c -- './simulate {}'", 'add three tasks to the latest job, which is open'),
    show(
      'job append 7 --key night-2 --each-line runs.txt -- ./simulate',
      'the tasks are appended once, even if this command is repeated',
    ),
  ],
  'job close': [
    show('job close last', 'let the open job submitted last end with the tasks that it has'),
    show('job close all', 'close every running job'),
  ],
  'job hold': [
    show('job hold last', 'start no more tasks of the job submitted last; running tasks continue'),
    show('job hold 7 3,5-9', 'the same of single tasks'),
  ],
  'job release': [
    show('job release last', 'let all tasks of the job start'),
    show('job release 7 3,5-9', 'let single tasks start'),
  ],
  'job forget': [
    show('job forget 3-7', 'forget five ended jobs and free their disk space'),
    show(
      'job forget --ended-before 30d --keep 100',
      'forget jobs that ended over 30 days ago, but keep the newest 100',
    ),
  ],
  'job update': [
    show('job update 7 --running-max 20', 'run at most 20 tasks of job 7 at once'),
    show('job update last --priority 10', 'serve it before jobs of a lower priority'),
  ],
  'job retry': [
    show('job retry 7', 'run every failed or cancelled task of job 7 again'),
    show('job retry 7 3,5 --current-inputs', 'run two tasks again, with the input files as they are now'),
  ],
  'job outputs': [
    show('job outputs last', 'list the archived outputs'),
    show('job outputs last 17 --extract here', 'extract those of task 17 into the folder "here"'),
  ],
  'job export': [
    show('job export last --format csv', 'all tasks with machine, times and memory, for a spreadsheet'),
    show('job export 7 --format joblog', 'the columns of the joblog of GNU parallel'),
  ],
  'job machines': [
    show('job machines last', 'what each machine did for the job submitted last'),
    show('job machines 7 --json', 'the same of job 7, for a program'),
  ],
  'job report': [
    show('job report last', 'write job-NUMBER-report.html'),
    show('job report 7 --out sweep.html', 'write the report of job 7 to another file'),
  ],
  'task list': [
    show('task list last --status failed', 'tasks of the last job that failed'),
    show('task list 7 0-9 --replicas', 'every replica of the first ten tasks of job 7'),
  ],
  'task output': [
    show('task output last', 'the output of every task of the last job'),
    show('task output last 0 --follow', 'the output of the first task, while it runs'),
    show('task output 7 0-9 --stderr', 'standard error of the first ten tasks of job 7'),
  ],
  'workflow show': [
    show('workflow show blur.yaml', 'check a workflow file'),
    show('workflow show montage.dax.gz --json', 'describe a gzipped DAX file for a program'),
  ],
  'workflow convert': [
    show('workflow convert montage.dax --to yaml --output montage.yaml', 'convert a DAX file to YAML'),
    show('workflow convert blur.yaml --to dot', 'print the graph for Graphviz'),
  ],
  'explain task': [
    show('explain task last 17', 'why task 17 of the last job is waiting, for example'),
    show('explain task 7 0 --json', 'the same for a program'),
  ],
  'explain job': [
    show('explain job last', 'why the last job is not done yet'),
    show('explain job 7', 'why job 7 is in its state'),
  ],
  'explain reservation': [
    show('explain reservation 7', 'why reservation 7 has its interval'),
    show('explain reservation 7 --manager uni', 'the same, of the reservation manager "uni"'),
  ],
  'explain machine': [
    show('explain machine lab/m1', 'why the machine gets no work'),
    show('explain machine lab/m1 --json', 'the same for a program'),
  ],
  'explain request': [
    show('explain request alpha/3', 'why the provider alpha made its request 3'),
    show('explain request alpha/3 --json', 'the same for a program'),
  ],
  events: [
    show('events --job last', 'all events of the last job'),
    show('events --follow --after 1200 --json', 'continue after event 1200, for a program'),
  ],
  ledger: [
    show('ledger', 'the processor-time of every allocation'),
    show('ledger last', 'the processor-time of the last job'),
  ],
  quota: [
    show('quota', 'your use and your limits'),
    show('quota --user maria', 'those of another user; for the owner of the grid'),
  ],
  'machine list': [
    show('machine list', 'machines that can be used now'),
    show('machine list --quiet', 'only their names'),
  ],
  'machine show': [
    show('machine show lab/m1', 'one machine'),
    show('machine show lab/m1 --json', 'the same for a program'),
  ],
  'machine add': [
    show('machine add --ssh ana@pc1 --name pc1', 'run an agent on a machine that ssh reaches'),
    show('machine add --file lab.sdf', 'add the machines of a list'),
  ],
  'machine invite': [
    show('machine invite pc7', 'invite a machine; it joins within a day'),
    show('machine invite pc7 --valid 1h', 'the invitation expires after an hour'),
  ],
  'machine credentials': [
    show('machine credentials', 'names that were invited, have joined or were removed'),
    show('machine credentials --provider uni', 'those of another provider'),
  ],
  'machine remove': [
    show('machine remove pc7', 'remove a machine of the provider "lab"'),
    show('machine remove pc7 --provider uni', 'remove a machine of another provider'),
  ],
  'machine trust': [
    show('machine trust', 'the trust record of every machine'),
    show('machine trust lab/m1', 'the trust record of one machine, with its evidence'),
  ],
  'machine quarantine': [
    show('machine quarantine lab/m1', 'exclude a machine'),
    show("machine quarantine lab/m1 --reason 'bad memory'", 'the same, with the reason'),
  ],
  'machine reset-trust': [
    show('machine reset-trust lab/m1', 'let a repaired machine work again'),
    show('machine reset-trust lab/m1 --json', 'the same for a program'),
  ],
  'machine drain': [
    show('machine drain lab/m1', 'before a repair: no new tasks'),
    show('machine drain lab/m1 --reason "new disk"', 'the same, with the reason'),
  ],
  'machine undrain': [
    show('machine undrain lab/m1', 'after a repair: tasks again'),
    show('machine undrain lab/m1 --quiet', 'the same, printing only the name'),
  ],
  'machine enrolled': [
    show('machine enrolled', 'machines that were added, and their state'),
    show('machine enrolled --provider uni', 'those of another provider'),
  ],
  'provider list': [
    show('provider list', 'all providers of the broker'),
    show('provider list --json', 'the same for a program'),
  ],
  'provider show': [
    show('provider show alpha', 'one provider, by name'),
    show('provider show login1:7001', 'one provider, by address'),
  ],
  'provider queue': [
    show('provider queue alpha', "the queue of alpha's cluster"),
    show('provider queue alpha --json', 'the same for a program'),
  ],
  'provider add': [
    show('provider add uni login1:7001', 'use a provider that runs on another host'),
    show('provider add alpha unix:/home/ana/.mutirao/alpha.sock', 'use a provider of this host'),
  ],
  'provider remove': [
    show('provider remove lab', 'stop using a provider that cannot be reached'),
    show('provider remove lab --quiet', 'the same, printing only the name'),
  ],
  'provider drain': [
    show('provider drain alpha --reason repairs', 'running tasks finish, new ones run elsewhere'),
    show('provider drain alpha --now', 'running tasks end too, and run again elsewhere'),
  ],
  'provider undrain': [
    show('provider undrain alpha', 'send work to alpha again'),
    show('provider undrain alpha --quiet', 'the same, printing only the name'),
  ],
  'provider heuristic': [
    show('provider heuristic alpha', 'print the heuristic in use'),
    show('provider heuristic alpha adaptive --default-task-time 20m', 'change the heuristic'),
  ],
  'site add': [
    show('site add uni --ssh ana@login.uni.example --manager slurm', 'use a Slurm cluster'),
    show(
      'site add uni --ssh ana@login.uni.example --manager slurm -- --slurm-partition main',
      'the same, with an option of the provider',
    ),
  ],
  'site list': [show('site list', 'sites and their connections'), show('site list --json', 'the same for a program')],
  'site show': [
    show('site show uni', 'what runs at the site "uni"'),
    show('site show uni --json', 'the same for a program'),
  ],
  'site connect': [
    show('site connect', 'connect to every site, for example after a reboot'),
    show('site connect uni --now', 'connect to one site again, and restart its provider'),
  ],
  'site remove': [
    show('site remove uni', 'remove a site once it has no work left'),
    show('site remove uni --now', 'remove a site at once'),
  ],
  'request list': [
    show('request list', 'requests that are queued or running'),
    show('request list --all', 'also those that have ended'),
  ],
  'cluster submit': [
    show('cluster submit --cluster alpha -- sleep 30', 'one processor, as a local user'),
    show('cluster submit --cluster alpha --width 4 --walltime 10m -- ./program', 'four processors for ten minutes'),
  ],
  'cluster queue': [
    show('cluster queue', 'the queues of all embedded clusters of this grid'),
    show('cluster queue --cluster alpha --ended 10', 'one queue, with the last ten requests that ended'),
  ],
  'cluster cancel': [
    show('cluster cancel --cluster alpha 12', 'withdraw or end request 12'),
    show('cluster cancel --cluster alpha 12 13 14', 'three requests'),
  ],
  'cluster score': [
    show('cluster score --cluster alpha', 'the scores of all users'),
    show('cluster score --cluster alpha ana', 'the score of one user'),
  ],
  'reservation request': [
    show(
      'reservation request --resource alpha --count 4 --for 2h --from "tomorrow 14:00"',
      'reserve 4 processors for two hours',
    ),
    show('reservation request --resource net --share 30% --for 1h --hold 5m', 'hold a share, and confirm it later'),
  ],
  'reservation co-allocate': [
    show('reservation co-allocate alpha=4 net=30% --for 1h', 'two resources for the same hour'),
    show('reservation co-allocate alpha=4 beta=2@10.0.0.7:7000 --for 1h --from 14:00', 'of two reservation managers'),
  ],
  'reservation list': [
    show('reservation list', 'your reservations'),
    show('reservation list --resource alpha --status held,confirmed', 'those of one resource that have not started'),
  ],
  'reservation show': [
    show('reservation show 7', 'one reservation, with its claim'),
    show('reservation show 7 8 --json', 'two reservations, for a program'),
  ],
  'reservation renegotiate': [
    show('reservation renegotiate 7 --count 6', 'change the amount'),
    show('reservation renegotiate 7 --from 16:00', 'change the time'),
  ],
  'reservation confirm': [
    show('reservation confirm 7', 'confirm a hold'),
    show('reservation confirm 7 8', 'confirm two holds'),
  ],
  'reservation cancel': [
    show('reservation cancel 7', 'cancel a reservation'),
    show('reservation cancel 7 --reason "class cancelled"', 'the same, with the reason'),
  ],
  'reservation claim': [
    show('reservation claim 7', 'start to use reservation 7'),
    show('reservation claim 7 --key first-run', 'the same; repeating it claims only once'),
  ],
  'reservation release': [
    show('reservation release 7', 'end the use of reservation 7'),
    show('reservation release 7 8', 'end the use of two reservations'),
  ],
  'reservation verify': [
    show('reservation verify 7', 'exit status 0 if reservation 7 can be used now, else 1'),
    show('reservation verify 7 --resource alpha --user ana', 'the same, for that resource and user'),
  ],
  'reservation calendar': [
    show('reservation calendar alpha --until +2d', 'the next two days of one resource'),
    show('reservation calendar', 'all resources'),
  ],
  'reservation resource': [
    show('reservation resource add cluster --total 16 --type processors', 'register a resource'),
    show(
      'reservation resource add-maintenance cluster --id disks --from 14:00 --until 18:00',
      'block it for maintenance',
    ),
  ],
  'sim schedule': [
    show('sim schedule --workflow blur.yaml --platform processors.conf', 'plan with the best of all algorithms'),
    show('sim schedule --workflow blur.yaml --platform processors.conf --algorithm heft --why', 'explain each step'),
  ],
  'sim trace': [
    show('sim trace log.swf.gz --policy easy', 'replay a log with EASY backfilling'),
    show('sim trace log.swf.gz --starts starts.csv', 'also write the start of every request'),
  ],
  'sim job': [
    show('sim job --trace log.swf.gz --heuristic finish --tasks 1000 --mean 100', 'jobs of 1,000 tasks of 100 s'),
    show(
      'sim job --trace log.swf.gz --heuristic adaptive --tasks 1000 --mean 1h --runs 10 --seed 7',
      'ten runs with a seed of your own',
    ),
  ],
  'sim study': [
    show('sim study trust --out trust', 'a study that needs no logs'),
    show('sim study costa2005 --out costa --data ~/logs --quick', 'a short version of a study on archived logs'),
  ],
  'sim study-chunk': [
    show('sim study-chunk costa2005 PART --out part.jsonl', 'one part, as the file of --export-jdf calls it'),
    show('sim study-chunk heuristics PART --out part.jsonl --quick', 'one part of a short study'),
  ],
  'sim replay': [
    show('sim replay broker.jsonl', 'check that the broker would decide the same again'),
    show('sim replay broker.jsonl --about j5.t3', 'print what concerns task 3 of job 5'),
  ],
  'sim swarm': [
    show('sim swarm --seeds 1000', 'simulate 1,000 grids with random faults'),
    show('sim swarm --scenario failing.json --trace turns.txt', 'simulate one grid again, and write its turns'),
  ],
  init: [
    show('init', 'create an identity for this host and you'),
    show('init --host login1.uni.example', 'the same, with one more name of this host'),
  ],
  'identity show': [
    show('identity show', 'your certificates and when they expire'),
    show('identity show --json', 'the same for a program'),
  ],
  'identity issue': [
    show('identity issue --for login1.example.org --out login1', 'certificates for a host'),
    show('identity issue --user maria --out maria', 'a certificate for a user'),
  ],
  'identity revoke': [
    show('identity revoke maria/user.crt', 'revoke a certificate by its file'),
    show('identity revoke 5f3a9c', 'revoke a certificate by its serial number'),
  ],
  backup: [
    show('backup ~/mutirao-backup', 'copy the usual home folder'),
    show('backup ~/mutirao-backup --home ~/second-grid', 'copy another home folder'),
  ],
  restore: [
    show('restore ~/mutirao-backup', 'restore into an empty home folder'),
    show('restore ~/mutirao-backup --replace', 'restore over an existing home folder'),
  ],
  completion: [
    show('completion bash', 'for bash: source <(mutirao completion bash)'),
    show('completion fish', 'for fish: mutirao completion fish | source'),
  ],
  addjob: [
    show('addjob sweep.jdf', 'submit a job file'),
    show('addjob sweep.jdf --wait', 'submit it and wait for its end'),
  ],
  waitforjob: [show('waitforjob last', 'wait for the last job'), show('waitforjob 3-5', 'wait for three jobs')],
  canceljob: [
    show('canceljob last', 'cancel the last job'),
    show('canceljob 7 --reason "wrong input"', 'cancel job 7, with the reason'),
  ],
  'run site': [
    show('run site uni', 'connect to the site "uni"'),
    show('run site uni --now', 'also replace a provider of another release'),
  ],
};
