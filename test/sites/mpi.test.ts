import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { aTemplate, FakeGang, temporaryFolder } from '@mutirao/testkit';

/** Each rank receives a number from the one before it, doubles it and passes it on; the first prints the last value. */
const program = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int rank, size, token = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("rank %d of %d at %s\\n", rank, size, getenv("PROC"));
  token *= 2;
  MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("came round %d\\n", token);
  }
  fflush(stdout);
  MPI_Finalize();
  return argc > 1 && rank == size - 1 ? atoi(argv[1]) : 0;
}
`;

test.serial(
  'Open MPI runs across a gang: its daemons start through $RSH_CMD, and ranks on all members exchange messages',
  async (t) => {
    const home = temporaryFolder(t);
    const ring = path.join(home, 'ring');
    writeFileSync(`${ring}.c`, program);
    execFileSync('mpicc', ['-o', ring, `${ring}.c`]);
    const gang = await FakeGang.start({ home, members: 3, processors: 2 });
    t.teardown(() => gang.stop());
    // Keeps members on one host from sharing memory and a folder of sockets; see
    // docs/guides/multiprocessor-tasks.md.
    const apart = { OMPI_MCA_btl: '^vader', OMPI_MCA_orte_launch_agent: 'env TMPDIR=$PLAYPEN orted' };
    const environment = { ...apart, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' };
    const mpirun = 'mpirun --mca plm_rsh_agent "$RSH_CMD" --hostfile $HOSTFILE';
    const end = await gang.run(
      aTemplate(`${mpirun} ${ring}; echo status $?; ${mpirun} ${ring} 3; echo status $?`, { environment }),
    );
    const lines = Buffer.from(end.standardOutput).toString().trimEnd().split('\n');
    const ranks = [0, 1, 2, 3, 4, 5].map((rank) => `rank ${rank} of 6 at lab/pc${Math.floor(rank / 2)}`);
    const second = lines.indexOf('status 0') + 1;
    t.deepEqual(
      lines.slice(0, second).sort(),
      ['came round 64', ...ranks, 'status 0'],
      Buffer.from(end.standardError).toString(),
    );
    t.is(lines.at(-1), 'status 3', `how a rank ends is how mpirun ends: ${Buffer.from(end.standardError).toString()}`);
  },
);
