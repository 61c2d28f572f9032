import Terminal

/// What a person is told at the end of an enrolment.
struct EnrollmentOutcome: Hashable {
    let server: String
    let entity: String
    let hasWebAPI: Bool
    /// client.toml names an access key. Without one only the agent can ask the server.
    let hasKey: Bool
    let directory: VehicleDirectory

    /// What was done and what a person does next. `isStarted`: sakerd.service runs, and starts at each boot.
    func lines(isStarted: Bool) -> [String] {
        let start =
            directory.isSystemWide
            ? (isStarted ? [] : ["  sudo systemctl enable --now sakerd"]) + ["  sudo saker status"]
            : ["  sakerd --config \(directory.path)/agent.toml"]
        let begun = isStarted ? " sakerd runs, and starts at each boot." : ""
        let track =
            "  " + (directory.isSystemWide ? "sudo saker track latest " : "saker track latest ") + entity.printable
            + (directory.isSystemWide || !hasKey ? "" : " --config \(directory.path)/client.toml")
        return ["This vehicle will log in to \(server) as \(entity.printable).\(begun) Next:"] + start
            + (hasWebAPI ? [track] : [])
    }
}
