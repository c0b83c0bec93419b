export {
  emptyCapacity,
  isSameCapacity,
  largerCapacity,
  multiplyCapacity,
  type GpuDevice,
  type ResourceCapacity,
} from './capacity.ts';
export { describeAmount, describeGpus, describePart, listAmounts } from './describe.ts';
export { FreeResources, type Assignment, type DeviceShare, type Shortage } from './free-resources.ts';
export {
  capacityOfSlots,
  countSlots,
  countSlotsOnBest,
  countSlotsOn,
  describeSlot,
  groupNodes,
  holdsSlot,
  isSameSlot,
  keyOfNodes,
  keyOfSlot,
  packSlot,
  plainSlot,
  shapeSlot,
  type NodeShape,
  type Slot,
} from './slot.ts';
export {
  emptyRequest,
  isEmptyRequest,
  isGpuShare,
  isResourceName,
  keyOfRequest,
  wholeDevice,
  type GpuShare,
  type ResourceRequest,
} from './request.ts';
