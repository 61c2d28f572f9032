internal import AgentLogic

extension RememberedState {
    /// The settings in the state file: a member for each of ``SettingKey``, under its name in camel case.
    ///
    /// A setting without a member is off. If the version that wrote the file did not know the setting, the setting has
    /// its default.
    struct RememberedSettings: Codable, Hashable, Sendable {
        var record: SettingsRecord

        init(_ settings: Settings) {
            record = SettingsRecord(settings)
        }

        /// Throws when a value breaks its rule: somebody edited the file.
        func settings() throws(SettingsError) -> Settings { try Settings(record) }

        /// Throws when a member is of another type than its setting.
        init(from decoder: any Decoder) throws {
            record = SettingsRecord(Settings())
            let members = try decoder.container(keyedBy: Member.self)
            for key in SettingKey.allCases {
                let member = Member(key)
                let value: SettingValue? =
                    switch key.kind {
                    case .integer: try members.decodeIfPresent(Int64.self, forKey: member).map(SettingValue.integer)
                    case .number: try members.decodeIfPresent(Double.self, forKey: member).map(SettingValue.number)
                    case .text: try members.decodeIfPresent(String.self, forKey: member).map(SettingValue.text)
                    case .flag: try members.decodeIfPresent(Bool.self, forKey: member).map(SettingValue.flag)
                    }
                if value != nil || key.canBeOff { record[key] = value }
            }
        }

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Member.self)
            for key in SettingKey.allCases {
                switch record[key] {
                case .integer(let value): try members.encode(value, forKey: Member(key))
                case .number(let value): try members.encode(value, forKey: Member(key))
                case .text(let value): try members.encode(value, forKey: Member(key))
                case .flag(let value): try members.encode(value, forKey: Member(key))
                case nil: break
                }
            }
        }
    }

    private struct Member: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ key: SettingKey) {
            let words = key.rawValue.split(separator: "_")
            stringValue = words.enumerated().map { $0 == 0 ? String($1) : $1.prefix(1).uppercased() + $1.dropFirst() }
                .joined()
        }

        init?(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }
}
