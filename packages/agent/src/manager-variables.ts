/**
 * Variables in which a resource manager and its process starter pass a process its job, step and rank.
 *
 * A task must not get them: an MPI program that finds them takes itself for a rank of the agent's step, `mpirun` starts
 * its ranks through the manager in a step that is full, and `srun` waits for processors that the agents hold.
 */
const ofSteps = [
  /^(?:SLURM|SLURMD|SBATCH|SRUN|SALLOC)_/,
  /^(?:PMI|PMI2|PMIX|PALS|PRTE|HYDI|HYDRA|ALPS)_/,
  /^MPI_LOCAL(?:NRANKS|RANKID)$/,
  /^OMPI_(?:COMM_WORLD|UNIVERSE|APP_CTX|FILE|FIRST|NUM|COMMAND|ARGV)_?/,
  /^OMPI_MCA_(?:ess|orte|plm|ras|pmix|initial_wdir)_?/,
  /^(?:PBS|COBALT|OAR|LSB)_/,
  /^LS_(?:JOBPID|SUBCWD|EXEC_T)$/,
  /^FLUX_(?:JOB|TASK|ENCLOSING)_/,
];
/** Where a manager is found, and what its commands go by: the same for everybody on the host. */
const ofInstallation = new Set([
  'SLURM_CONF',
  'SLURM_CLUSTERS',
  'PBS_DEFAULT',
  'PBS_SERVER',
  'PBS_EXEC',
  'PBS_CONF_FILE',
]);
/** Grid Engine's, whose names mean other things elsewhere. */
const ofGridEngine = new Set([
  'ARC',
  'JOB_ID',
  'JOB_NAME',
  'JOB_SCRIPT',
  'NHOSTS',
  'NQUEUES',
  'NSLOTS',
  'PE',
  'PE_HOSTFILE',
  'QUEUE',
  'REQNAME',
  'REQUEST',
  'RESTARTED',
  'SGE_ACCOUNT',
  'SGE_BINDING',
  'SGE_CWD_PATH',
  'SGE_JOB_SPOOL_DIR',
  'SGE_STDERR_PATH',
  'SGE_STDIN_PATH',
  'SGE_STDOUT_PATH',
  'SGE_TASK_FIRST',
  'SGE_TASK_ID',
  'SGE_TASK_LAST',
  'SGE_TASK_STEPSIZE',
]);

/** What the resource manager calls the job that the agent runs in; undefined where there is none. */
export function findManagerJob(own: Readonly<Record<string, string | undefined>>): string | undefined {
  return (
    own['SLURM_JOB_ID'] ??
    own['PBS_JOBID'] ??
    own['LSB_JOBID'] ??
    own['OAR_JOB_ID'] ??
    own['COBALT_JOBID'] ??
    (own['SGE_TASK_ID'] === undefined ? undefined : own['JOB_ID'])
  );
}

/**
 * Whether a variable says of what job, step or rank of a resource manager the agent is. @param own all variables of the
 * agent.
 */
export function isOfManager(name: string, own: Readonly<Record<string, string | undefined>>): boolean {
  if (ofGridEngine.has(name)) return own['SGE_TASK_ID'] !== undefined;
  return !ofInstallation.has(name) && ofSteps.some((pattern) => pattern.test(name));
}
