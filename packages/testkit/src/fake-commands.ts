import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Faked commands in a folder that goes first on PATH; each notes how it was called. */
export class FakeCommands {
  readonly folder: string;

  /** @param folder absolute; made when it is not there. */
  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** The value of PATH with which they are found. */
  get path(): string {
    return `${this.folder}:/usr/bin:/bin`;
  }

  /** From now on the command is this piece of shell. */
  act(command: string, shell: string): void {
    const path = join(this.folder, command);
    writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "$*" >>'${path}.calls'\n${shell}\n`);
    chmodSync(path, 0o755);
  }

  /** From now on the command writes this and ends well. */
  say(command: string, words: string): void {
    writeFileSync(join(this.folder, `${command}.out`), words);
    this.act(command, `cat '${join(this.folder, `${command}.out`)}'`);
  }

  /** The arguments of each call so far, one line each. */
  calls(command: string): string[] {
    const path = join(this.folder, `${command}.calls`);
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  }
}

/** A job of a faked Slurm; instants as Slurm writes them. */
export interface FakeJob {
  readonly id: string;
  readonly user: string;
  readonly width: number;
  readonly minutes: number;
  readonly state: string;
  readonly submitted: string;
  readonly starts: string;
  readonly ends: string;
  readonly reason: string;
  readonly name: string;
}

/** A Slurm of one partition of 8 processors that takes jobs and keeps them waiting, until a test says otherwise. */
export class FakeSlurm extends FakeCommands {
  readonly #user: string;

  constructor(folder: string, user: string) {
    super(folder);
    this.#user = user;
    mkdirSync(join(folder, 'jobs'));
    this.takeJobs();
    this.listJobs();
    this.say(
      'scontrol',
      'PartitionName=main Default=YES MaxNodes=UNLIMITED MaxTime=01:00:00 MaxCPUsPerNode=UNLIMITED\n',
    );
    this.act('sinfo', 'case "$*" in *%c*) echo "8|0/8/0/8";; *) echo 0/8/0/8;; esac');
    this.act(
      'scancel',
      `cd '${folder}/jobs'; for id; do [ ! -e $id ] || sed -i 's/PENDING\\|RUNNING/CANCELLED/; ` +
        `s/N.A.N.A/2026-11-20T12:00:00|2026-11-20T12:00:00/' $id; done`,
    );
  }

  /**
   * From now on `sbatch` takes jobs.
   *
   * @param then a piece of shell that is run when a job is taken, before `sbatch` says so; `$id` is its number,
   * `$script` a file with its script.
   */
  takeJobs(then = ''): void {
    this.act(
      'sbatch',
      [
        'for word; do case "$word" in --job-name=*) name=${word#*=};; --ntasks=*) width=${word#*=};; --time=*) ' +
          'minutes=${word#*=};; esac; done',
        `cd '${this.folder}'; id=1; while ! mkdir taken.$id 2>/dev/null; do id=$((id + 1)); done; ` +
          `script='${this.folder}'/taken.$id/script; cat >"$script"`,
        `echo "$id|${this.#user}|$width|$minutes:00|PENDING|$(TZ=UTC date +%FT%T)|N/A|N/A|None|main|$name" >jobs/$id`,
        then,
        'echo $id',
      ].join('\n'),
    );
  }

  /** From now on `squeue` lists the jobs that were accepted. */
  listJobs(): void {
    this.act(
      'squeue',
      `cd '${this.folder}/jobs'; set -- "$*" *; words=$1; shift; [ -e "$1" ] || exit 0
case "$words" in *--name=*) name=\${words#*--name=}; cat "$@" | grep "|\${name%% *}$" || true;; *--user=*) cat "$@";; *) cat "$@" | grep 'PENDING\\|RUNNING' | cut -d '|' -f 1-9 || true;; esac`,
    );
  }

  jobs(): FakeJob[] {
    return readdirSync(join(this.folder, 'jobs')).map((id) => {
      const [
        ,
        user = '',
        width = '',
        limit = '',
        state = '',
        submitted = '',
        starts = '',
        ends = '',
        reason = '',
        ,
        name = '',
      ] = readFileSync(join(this.folder, 'jobs', id), 'utf8')
        .trim()
        .split('|');
      return {
        id,
        user,
        width: Number(width),
        minutes: Number.parseInt(limit, 10),
        state,
        submitted,
        starts,
        ends,
        reason,
        name,
      };
    });
  }

  /** Puts a job into the queue, or another state of one. */
  put({ id, user, width, minutes, state, submitted, starts, ends, reason, name }: FakeJob): void {
    writeFileSync(
      join(this.folder, 'jobs', id),
      `${[id, user, width, `${minutes}:00`, state, submitted, starts, ends, reason, 'main', name].join('|')}\n`,
    );
  }
}
