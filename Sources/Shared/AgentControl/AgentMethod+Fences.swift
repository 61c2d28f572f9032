// The text of the fences' methods in the interface's description.
extension AgentMethod {
    /// Empty for a method of another subject.
    var fenceText: String {
        switch self {
        case .createFence:
            """
            # Makes a fence that the agent judges on the vehicle. What a fence is: the documentation of the control interface.
            method CreateFence(fence: object) -> (fence_id: int, revision: int, code: int, durable: ?bool)
            """
        case .updateFence:
            """
            # Puts another definition in the place of a fence's. Without a shape in it the shape stays.
            method UpdateFence(
              fence_id: int,
              fence: object
            ) -> (fence_id: int, revision: int, code: int, durable: ?bool)
            """
        case .deleteFences:
            """
            # Deletes the fences that match, all or none, without an exit. entity: fences that watch it and nobody else. Give all
            # instead of conditions to delete every fence.
            method DeleteFences(
              fences: ?[]int,
              name: ?string,
              group: ?string,
              entity: ?string,
              file: ?string,
              layer: ?string,
              all: ?bool
            ) -> (deleted: []int, code: int, durable: ?bool)
            """
        case .listFences:
            """
            # The fences that match, in the order of their numbers: those with a number greater than after. limit: 1 to 1000, 100
            # when absent. source: local (when absent) for the vehicle's own fences, server for those that the server has sent.
            method ListFences(
              source: ?string,
              fences: ?[]int,
              name: ?string,
              group: ?string,
              entity: ?string,
              file: ?string,
              layer: ?string,
              after: ?int,
              limit: ?int
            ) -> (fences: []LocalFence, more: bool)
            """
        case .exportFences:
            """
            # The fences that match, with shapes of any size, as JSON lines: a piece of the text, and where the next piece begins.
            # Each line has id, revision, created, modified and fence.
            method ExportFences(
              fences: ?[]int,
              name: ?string,
              group: ?string,
              entity: ?string,
              file: ?string,
              layer: ?string,
              position: ?string
            ) -> (text: string, position: ?string)
            """
        case .getFenceStatus:
            """
            # Where an entity (the one of the service when absent) is with regard to the fences that match and watch it. With place
            # the same of an assumed place; that changes nothing. source: as in ListFences.
            method GetFenceStatus(
              source: ?string,
              entity: ?string,
              place: ?Place,
              fences: ?[]int,
              name: ?string,
              group: ?string,
              file: ?string,
              layer: ?string,
              after: ?int,
              limit: ?int
            ) -> (entity: string, statuses: []FenceStatus, more: bool)
            """
        case .importFences:
            """
            # Makes the fences of one file and layer what the text says: JSON lines, each a fence with its origin, or
            # {"keep": feature}. Fences of the file and layer that no line names are deleted. All or nothing, with the last part.
            # A long text comes in parts, counted from 0, that have the same import_id.
            method ImportFences(
              file: string,
              layer: ?string,
              text: string,
              import_id: ?string,
              part: ?int,
              last: ?bool
            ) -> (
              received: int,
              done: bool,
              created: int,
              updated: int,
              unchanged: int,
              deleted: int,
              code: int,
              durable: ?bool
            )
            """
        default: ""
        }
    }
}
