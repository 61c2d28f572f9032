import ArgumentParser
import FenceCommands

/// `saker fence`
struct FenceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fence",
        abstract: "Makes, shows and tries the fences of this vehicle.",
        discussion: """
            A fence is an area on the map. The agent tells when the vehicle enters it, leaves it or stays in it, also without
            a network: as an alarm (saker alarms, saker watch) and to hooks. These are the vehicle's own fences; the server
            has others.

            A place is LAT,LON in degrees, as in 40.04,116.3; south and west are negative, as in -54.8,-68.3.

            Examples:
              saker fence add circle --at 40.0405,116.3008 --radius 50 --name depot
              saker fence add polygon --at '40.0,116.0 40.0,116.01 40.01,116.01' --name yard --stay 300
              saker fence add corridor --at '40.0,116.0 40.0,116.02' --offset 50 --name 'route 7'
              saker fence import yards.geojson --where "kind = 'depot'" --buffer 20
              saker fence import route.gpx --buffer 50
              saker fence list
              saker fence status --at 40.0405,116.3008
              saker fence edit depot --radius 80
              saker fence delete depot
              saker fence export --output fences.geojson
              saker fence test drive.gpx --fences fences.geojson --output map.geojson
            """,
        subcommands: [
            FenceAdd<VehicleFences>.self, FenceImportCommand.self, FenceList.self, FenceShow.self,
            FenceStatusCommand<VehiclePlaces>.self, FenceEdit<VehicleFences>.self, FenceDelete<VehicleFences>.self,
            FenceExport.self, FenceTest<VehicleFences>.self,
        ])
}
